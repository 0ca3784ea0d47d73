"""Parsers of ntttcp: Microsoft's text on Windows, ntttcp-for-linux's, and documents in XML and JSON."""
