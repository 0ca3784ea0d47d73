"""People and scripts: users, teams, invitations, service accounts and their tokens."""
