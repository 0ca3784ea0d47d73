"""The settings of the installation, for admins."""
