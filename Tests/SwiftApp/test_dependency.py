# SPDX-License-Identifier: Apache-2.0
"""The line of docs/build/receive-ios.md is all that another package needs: tried from a repository on this disk."""

import re
import shutil
import tempfile
import unittest
from pathlib import Path

import toolchain

PAGE = toolchain.ROOT / "docs" / "build" / "receive-ios.md"
VERSION = "99.0.0"
# What a package gets that depends on the client alone.
FETCHED = {"app-backend", "swift-http-types"}
PROGRAM = """
import DeviceAPI
import DeviceClient
import HTTP

let client = NotificationClient(
    endpoint: try Endpoint("https://push.example.com"), credentials: try Credentials(token: "abt_1"),
    transport: NoNetwork())
do {
    _ = try await client.send(PushMessage(to: "bob", body: "At noon"))
} catch {
    if case .unreachable(let reason) = error { print(reason) }
}

struct NoNetwork: DeviceTransport {
    func send(_ request: Request) async throws -> Response { throw DeviceTransportError(reason: "there is no network") }
}
"""


def documented() -> tuple[str, str]:
    """The line for `dependencies`, and that for a target."""
    text = PAGE.read_text()
    package = re.search(r'^ *(\.package\(url: "[^"]+", from: "[^"]+".*\)),?$', text, re.M)
    product = re.search(r'^ *(\.product\(name: "DeviceClient", package: "[^"]+"\)),?$', text, re.M)
    assert package is not None and product is not None, f"{PAGE} has no such lines"
    return package[1], product[1]


class Dependency(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = Path(folder.name)

    def publish(self) -> Path:
        """A repository with the work tree as it is, under a version of its own."""
        tree, bare = self.scratch / "tree", self.scratch / "app-backend.git"
        listed = toolchain.run("git", "-C", toolchain.ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, listed.split("\0")):
            if (toolchain.ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(toolchain.ROOT / name, tree / name)
        author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        toolchain.run("git", "init", "--quiet", tree)
        toolchain.run("git", "-C", tree, "add", "--all", "--force")
        toolchain.run("git", "-C", tree, *author, "commit", "--quiet", "--message", "As it is")
        # A release's tag begins with this letter.
        toolchain.run("git", "-C", tree, "tag", f"v{VERSION}")
        toolchain.run("git", "clone", "--quiet", "--bare", tree, bare)
        return bare

    def test_one_line_brings_the_client_and_nothing_of_the_server(self) -> None:
        line, product = documented()
        line = re.sub(r'url: "[^"]+", from: "[^"]+"', f'url: "file://{self.publish()}", from: "{VERSION}"', line)
        app = self.scratch / "app"
        (app / "Sources" / "App").mkdir(parents=True)
        (app / "Package.swift").write_text(
            "// swift-tools-version: 6.2\nimport PackageDescription\n"
            f'let package = Package(name: "App", platforms: [.iOS(.v15), .macOS(.v12)], dependencies: [{line}],'
            f' targets: [.executableTarget(name: "App", dependencies: [{product}])])\n'
        )
        (app / "Sources" / "App" / "main.swift").write_text(PROGRAM)
        # As on a host without the headers of any C library.
        nothing = ["env", "PKG_CONFIG_PATH=/nowhere", "PKG_CONFIG_LIBDIR=/nowhere"]
        said = toolchain.run(*nothing, "swift", "run", "--quiet", "--package-path", app, "App")
        self.assertIn("there is no network", said.splitlines(), said)
        self.assertNotIn("warning:", said)
        self.assertEqual({path.name for path in (app / ".build" / "checkouts").iterdir()}, FETCHED)


if __name__ == "__main__":
    unittest.main()
