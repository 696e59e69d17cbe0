// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The names in a folder, so many at most; none where it cannot be read.
struct FolderListing {
    private(set) var names: [String] = []

    init(_ path: String, maximum: Int) {
        guard let folder = opendir(path) else { return }
        defer { closedir(folder) }
        while names.count < maximum, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }
}
