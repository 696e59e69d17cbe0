# SPDX-License-Identifier: Apache-2.0
"""The operator's page, and who is logged in."""

import secrets
from collections.abc import Callable

from account import Account
from installation import Installation, User
from notify_page import NotifyPage
from tab import Tab
from test_admin import confirm, open_admin, root, tab  # noqa: F401
from test_session import change_the_cookie


def test_nothing_is_done_in_the_name_of_an_administrator_who_is_not_the_one_shown(
    tab: Tab, installation: Installation, root: Account, open_admin: Callable[[Tab, Account], None]  # noqa: F811
) -> None:
    tab.expect_complaint("401")
    open_admin(tab, root)
    other = Account(installation, installation.add_user("root", "--role", "administrator"))
    change_the_cookie(NotifyPage(tab, installation.origin), other)
    carol = User(f"carol-{secrets.token_hex(4)}", installation.secret("another-"))
    tab.evaluate("document.getElementById('adding').open = true")
    tab.fill("newName", carol.name)
    tab.fill("newPassword", carol.password)
    tab.click("add")
    confirm(tab, root.user.password)
    tab.wait_until("document.body.dataset.state === 'refused'")
    assert installation.call("GET", "/api/register", carol).status == 401
