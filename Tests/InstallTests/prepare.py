# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian systems that the tests will need; started by `script/test-install --prepare`."""

import sys

from conftest import why_not_here
from debian import RELEASES
from product import CHECKOUT
from roots import RootCache

if __name__ == "__main__":
    reason = why_not_here()
    if reason is not None:
        sys.exit(reason)
    RootCache(CHECKOUT / ".build" / "roots").prepare(RELEASES)
