// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store

/// `indexed.json`: says that every record of the store in this very place is in its indexes.
///
/// It names `store.json`, which is written only once, by what no program that copies can carry along: its inode,
/// and the time of its last status change (ctime). Beside a copy it names another file, and the copy is looked through
/// once. So is a store whose mark was removed, or whose `store.json` was given to another user; that costs only time.
struct CleanMarker {
    static let name = "indexed.json"
    /// It is far smaller.
    private static let maximumBytes = 4_096

    private let context: StoreContext

    init(_ context: StoreContext) {
        self.context = context
    }

    var isHere: Bool {
        guard let place, let file = try? OpenFile.openIfPresent(context, Self.name, O_RDONLY),
            let bytes = try? file.read(Self.maximumBytes), let mark = try? JSONValue(parsing: bytes)
        else { return false }
        return mark["inode"]?.string == String(place.inode) && mark["changed"]?.integer == place.changedAt
    }

    /// Not flushed: where it gets lost with the power, the store is looked through once more.
    func write() throws(StoreError) {
        guard let place else { return }
        let json = JSONWriter.object {
            $0.member("inode", String(place.inode))
            $0.member("changed", place.changedAt)
        }
        let temporary = "\(Self.name).\(getpid()).tmp"
        let file = try OpenFile.open(context, temporary, O_WRONLY | O_CREAT | O_TRUNC)
        do throws(StoreError) {
            try file.write(json.bytes + [0x0A])
            guard rename(context.path + "/" + temporary, context.path + "/" + Self.name) == 0 else {
                throw StoreError(errno, "rename", temporary, writing: true)
            }
        } catch {
            unlink(context.path + "/" + temporary)
            throw error
        }
    }

    private var place: FileIdentity? { FileIdentity(path: context.path + "/store.json") }
}
