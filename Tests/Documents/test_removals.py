# SPDX-License-Identifier: Apache-2.0
"""House rule 11: what the hub or a push service removes, the user's list of devices knows. A file that begins to remove
registrations is found here, and says by which call the list learns of it."""

import re
import unittest

import rooms

REMOVAL = re.compile(r"(?<!func )\b(?:removeHubRegistration|\w*[hH]ub[?!]?\.(?:remove|delete))\(")
# Of each file that removes registrations, how the record of the device learns of it, and the number of the removals.
TOLD_BY = {
    # A push service calls the device gone.
    "BuiltInHub/Delivery/GoneDevices.swift": ("noteGone(", 1),
    # A client of the served hub deletes it: it is none of a user's, whose registrations are in another namespace.
    "HubServer/RegistrationRoutes.swift": (None, 1),
    # Installations are of the served hub only.
    "BuiltInHub/BuiltInHub+Installations.swift": (None, 2),
    # The record itself is removed, or written anew: by its user, an administrator, or another device with its handle.
    "AppBackend/Register/RegistrationRemoval.swift": ("store.removeUnchanged(", 1),
    "AppBackend/Register/RegisterController+Ownership.swift": ("deleteRecord(", 5),
    # It was removed before this wrote it.
    "AppBackend/Register/TagNarrowing.swift": ("noteGone(", 1),
    # A process has begun to remove the device, and has ended.
    "FileStore/Maintenance/FileSiteStore+Sweep.swift": ("noteRemoved(", 1),
    # It belongs to no device, and is written under another name before.
    "Store/Records/HubNamespace.swift": ("try putRecords(moved", 1),
    # The hub's own call, which those above make.
    "BuiltInHub/BuiltInHub+Registrations.swift": ("func remove(", 1),
}


class Removals(unittest.TestCase):
    def test_wherever_a_registration_is_removed_the_list_of_its_user_is_told(self) -> None:
        sources = {str(path.relative_to(rooms.ROOT / "Sources")): path.read_text() for path in rooms.ROOT.glob("Sources/**/*.swift")}
        removing = {name: len(found) for name, text in sources.items() if (found := REMOVAL.findall(text))}
        listed = {name: count for name, (_, count) in TOLD_BY.items()}
        self.assertEqual(removing, listed, "the files that remove registrations, and how often, are those listed here")
        silent = {name for name, (call, _) in TOLD_BY.items() if call and call not in sources.get(name, "")}
        self.assertEqual(silent, set(), "tells no more")

    def test_a_removal_is_found_however_the_store_and_the_hub_are_called(self) -> None:
        for receiver in ("store.", "hubStore.", "try "):
            self.assertRegex(f"{receiver}removeHubRegistration(id", REMOVAL)
        for call in ("hub.remove(id", "site.hub.delete(id", "servedHub?.remove(id"):
            self.assertRegex(call, REMOVAL)
        self.assertNotRegex("func removeHubRegistration(_ id", REMOVAL)


if __name__ == "__main__":
    unittest.main()
