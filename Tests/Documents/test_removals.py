# SPDX-License-Identifier: Apache-2.0
"""House rule 11: what the hub or a push service removes, the user's list of devices knows. A file that begins to remove
registrations is found here, and says by which call the list learns of it."""

import re
import unittest

import rooms

REMOVAL = re.compile(r"\b(?:store\.removeHubRegistration|hub\.remove|hub\.delete)\(")
# Of each file that removes a registration, how the record of the device learns of it.
TOLD_BY = {
    # A push service calls the device gone.
    "BuiltInHub/Delivery/GoneDevices.swift": "noteGone(",
    # A client of the served hub deletes it: it is none of a user's, whose registrations are in another namespace.
    "HubServer/RegistrationRoutes.swift": "hub.remove(",
    # The record itself is removed, or written anew: by its user, an administrator, or another device with its handle.
    "AppBackend/Register/RegistrationRemoval.swift": "store.removeUnchanged(",
    "AppBackend/Register/RegisterController+Ownership.swift": "deleteRecord(",
    # It was removed before this wrote it.
    "AppBackend/Register/TagNarrowing.swift": "noteGone(",
    # The hub's own call, which those above make.
    "BuiltInHub/BuiltInHub+Registrations.swift": "func remove(",
}


class Removals(unittest.TestCase):
    def test_wherever_a_registration_is_removed_the_list_of_its_user_is_told(self) -> None:
        sources = {str(path.relative_to(rooms.ROOT / "Sources")): path.read_text() for path in rooms.ROOT.glob("Sources/**/*.swift")}
        removing = {name for name, text in sources.items() if REMOVAL.search(text)}
        self.assertEqual(removing, set(TOLD_BY), "the files that remove registrations are those listed here")
        self.assertEqual({name for name, call in TOLD_BY.items() if call not in sources.get(name, "")}, set(), "tells no more")


if __name__ == "__main__":
    unittest.main()
