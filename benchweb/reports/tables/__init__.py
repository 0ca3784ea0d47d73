"""Tables as published reports print them: from reported runs to texts, a module for each tool or shape."""
