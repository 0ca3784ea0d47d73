"""Pages: how small a change alerts, of a plan, environment, test kind or metric."""
