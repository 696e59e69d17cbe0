// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Store

/// Whoever owns the folder of the store.
///
/// An administrator runs `app-backend user add` as root, and the service runs as a user of its own. What root made in
/// the store the service could not open, so root becomes the owner before anything is touched.
package enum StoreOwner {
    /// Becomes the owner of the configuration's store; what lies in it is then found by its owner's way to it. A database
    /// is nobody's on this host.
    /// - Throws: `StoreError.unavailable`.
    package static func become(for configuration: inout SiteConfiguration) throws(StoreError) {
        guard case .folder(let path) = configuration.store else { return }
        configuration.store = .folder(try become(ownerOf: path))
    }

    /// Does nothing unless this process is root's and the folder is somebody else's.
    /// - Returns: the path to open the store by. It is `.` after the change: the folder above (`/var/lib/private`, with
    ///   `DynamicUser=`) may not let its owner through.
    /// - Throws: `StoreError.unavailable`.
    package static func become(ownerOf path: String) throws(StoreError) -> String {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return path }
        guard chdir(path) == 0, setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0 else {
            throw .unavailable(detail: "become the owner of \(path): \(String(cString: strerror(errno)))")
        }
        return "."
    }
}
