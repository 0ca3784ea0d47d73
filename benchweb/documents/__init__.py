"""What a page, a share, a report and an export tell: documents of references, and a writer for each form."""
