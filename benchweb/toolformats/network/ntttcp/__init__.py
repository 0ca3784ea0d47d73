"""Parsers of ntttcp: Microsoft's text on Windows, ntttcp-for-linux's, and the XML that both write by -x and -xml."""
