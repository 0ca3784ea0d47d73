"""Reports: the list, a report's page, and the form that makes one."""
