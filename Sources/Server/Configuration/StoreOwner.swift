// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Store
import System

/// The user who owns the folder of the store.
///
/// An administrator runs `app-backend user add` as root, and the service runs as a user of its own. The service could not
/// open files that root made, so a process of root's continues as the owner before it opens the store.
package enum StoreOwner {
    /// Makes this process the owner of the configuration's store, with the groups of the service's unit, and sets the path by
    /// which its owner reaches it. Does nothing for a database.
    /// - Throws: `StoreError.unavailable`.
    package static func dropPrivileges(
        toOwnerOf configuration: inout SiteConfiguration, _ environment: Environment = .process
    ) throws(StoreError) {
        guard case .folder(let path) = configuration.store else { return }
        let groups = environment.unit?.groups ?? []
        configuration.store = .folder(try dropPrivileges(toOwnerOfFolder: path, groups: groups))
    }

    /// Runs `body` as the user of the service, where this process is root's: what root may read, the service perhaps may not.
    /// That is the owner of the store's folder, or with a database that of the folder which systemd makes for the service. Where
    /// there is no such folder yet, or root may become no other user, `body` is run as root.
    package static func asServiceUser<Result, Failure: Error>(
        of configuration: SiteConfiguration, _ environment: Environment, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var status = stat()
        guard geteuid() == 0, stat(configuration.store.folder ?? ServiceUnit.stateFolder, &status) == 0,
            status.st_uid != 0
        else { return try body() }
        let former = currentGroups()
        let groups = groups(of: status, environment.unit?.groups ?? [])
        defer {
            // To the saved user first: no other may change groups.
            _ = seteuid(0)
            _ = setegid(0)
            _ = setgroups(former.count, former)
        }
        guard setgroups(groups.count, groups) == 0, setegid(status.st_gid) == 0 else { return try body() }
        _ = seteuid(status.st_uid)
        return try body()
    }

    /// Runs `body` as the owner of the configuration's store, with the path by which the owner reaches it, and is who it was
    /// afterwards. Does nothing for a database.
    package static func asOwner(
        of configuration: SiteConfiguration, _ body: (SiteConfiguration) throws -> Void
    ) throws {
        guard geteuid() == 0, let folder = configuration.store.folder else { return try body(configuration) }
        let former = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer {
            if former >= 0 {
                _ = fchdir(former)
                close(former)
            }
        }
        guard former >= 0, chdir(folder) == 0 else { return try body(configuration) }
        var asOwner = configuration
        asOwner.store = .folder(".")
        try asServiceUser(of: asOwner, .process) { () throws in try body(asOwner) }
    }

    private static func currentGroups() -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }

    /// Those of the folder's owner, and more by name or number.
    private static func groups(of status: stat, _ more: [String]) -> [gid_t] {
        var groups: [gid_t] = []
        if let name = getpwuid(status.st_uid)?.pointee.pw_name {
            var count: Int32 = 256
            groups = [gid_t](repeating: 0, count: Int(count))
            let found = getgrouplist(name, status.st_gid, &groups, &count)
            groups = Array(groups.prefix(found < 0 ? 0 : Int(count)))
        }
        return groups + more.compactMap { gid_t($0) ?? getgrnam($0)?.pointee.gr_gid }
    }

    /// Does nothing unless this process is root's and the folder belongs to another user.
    /// - Parameter groups: names or numbers of more groups than the owner has.
    /// - Returns: the path to open the store by. It is `.` after the change: the folder above (`/var/lib/private`, with
    ///   `DynamicUser=`) may not let its owner through.
    /// - Throws: `StoreError.unavailable`.
    package static func dropPrivileges(
        toOwnerOfFolder path: String, groups more: [String] = []
    ) throws(StoreError) -> String {
        var status = stat()
        guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return path }
        let groups = groups(of: status, more)
        guard chdir(path) == 0, setgroups(groups.count, groups) == 0, setgid(status.st_gid) == 0,
            setuid(status.st_uid) == 0
        else {
            throw .unavailable(detail: "become the owner of \(path): \(systemErrorText())")
        }
        return "."
    }
}
