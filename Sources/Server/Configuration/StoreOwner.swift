// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Store
import System

/// The user who owns the folder of the store.
///
/// An administrator runs `app-backend user add` as root, and the service runs as a user of its own. The service could not
/// open files that root made, so a process of root's continues as the owner before it opens the store.
package enum StoreOwner {
    /// Makes this process the owner of the configuration's store, and sets the path by which its owner reaches it. Does
    /// nothing for a database.
    /// - Throws: `StoreError.unavailable`.
    package static func dropPrivileges(toOwnerOf configuration: inout SiteConfiguration) throws(StoreError) {
        guard case .folder(let path) = configuration.store else { return }
        configuration.store = .folder(try dropPrivileges(toOwnerOfFolder: path))
    }

    /// Does nothing unless this process is root's and the folder belongs to another user.
    /// - Returns: the path to open the store by. It is `.` after the change: the folder above (`/var/lib/private`, with
    ///   `DynamicUser=`) may not let its owner through.
    /// - Throws: `StoreError.unavailable`.
    package static func dropPrivileges(toOwnerOfFolder path: String) throws(StoreError) -> String {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return path }
        guard chdir(path) == 0, setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0 else {
            throw .unavailable(detail: "become the owner of \(path): \(systemErrorText())")
        }
        return "."
    }
}
