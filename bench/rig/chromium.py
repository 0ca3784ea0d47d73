"""Debian's headless Chromium, for pictures and for what a reader waits for."""

import os
import shutil

from playwright.sync_api import Browser, Playwright

from benchweb.ops.setup.requirements import CHROMIUM


def chromium(playwright: Playwright) -> Browser:
    """Start it; its sandbox is for users other than root."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    arguments = [*sandbox, "--disable-background-networking", "--disable-gpu"]
    return playwright.chromium.launch(executable_path=shutil.which(CHROMIUM), args=arguments)
