// SPDX-License-Identifier: Apache-2.0

extension BucketTable {
    /// Calls `body` with the last whole line of every record of that key that is there, and with the number of the
    /// first of its lines, in no order of meaning. Of our own lines only these are parsed, and removals.
    /// - Parameter isWanted: is asked for an id before anything of it is parsed.
    func forEachLatestLine(
        _ content: BucketContent?, key: String, where isWanted: (_ id: String) -> Bool, _ body: (Line, Int) -> Void
    ) {
        guard let content else { return }
        let probe = LineProbe(schema, key: key, id: nil)
        content.withLines(where: { _ in true }) { lines in
            var found: [String: [BucketContent.RawLine]] = [:]
            for raw in lines {
                switch probe.examine(raw.bytes) {
                case .other: continue
                case .record(let token):
                    let id = Self.text(ofID: token)
                    if isWanted(id) { found[id, default: []].append(raw) }
                case .unclear:
                    guard let line = decode(raw, of: content), line.key.hasSameBytes(as: key),
                        let id = line.id.string, isWanted(id)
                    else { continue }
                    if line.op == nil { found[id, default: []].append(raw) } else { found[id] = nil }
                }
            }
            for lines in found.values {
                guard let first = lines.first,
                    let line = lines.reversed().lazy.compactMap({ decode($0, of: content) }).first
                else { continue }
                body(line, first.number)
            }
        }
    }
}
