// SPDX-License-Identifier: Apache-2.0
import JSON

/// The counts of an import, or of a check.
struct ImportSummary {
    struct Count {
        var added = 0
        var present = 0

        mutating func add(isNew: Bool) {
            if isNew { added += 1 } else { present += 1 }
        }
    }

    struct Skipped {
        var count = 0
        var firstLine = 0
    }

    /// Whether nothing was changed.
    var isDryRun = false
    /// Rows and objects of the file, without the one of the columns' names.
    var records = 0
    var users = Count()
    var devices = Count()
    var skipped: [ImportSkip: Skipped] = [:]
    var refused = 0
    /// Users whose hash is of a kind that cannot be checked here.
    var withoutPassword = 0

    mutating func skip(_ reason: ImportSkip, line: Int) {
        var found = skipped[reason] ?? Skipped(firstLine: line)
        found.count += 1
        skipped[reason] = found
    }

    /// For people.
    var text: String {
        func part(_ verb: String, _ count: Count, _ one: String, _ many: String) -> String {
            let one = UserCommand.counted(count.added, one, many)
            let there = UserCommand.counted(count.present, isDryRun ? "is" : "was", isDryRun ? "are" : "were")
            return "\(verb) \(one), \(there) there already"
        }
        let users = part(isDryRun ? "would add" : "added", users, "user", "users")
        let devices = part(isDryRun ? "would register" : "registered", devices, "device", "devices")
        return "\(users); \(devices)"
    }

    /// Remarks for a person, each in a line.
    var remarks: [String] {
        var remarks = ImportSkip.allCases.compactMap { reason in
            skipped[reason].map { found in
                "\(UserCommand.counted(found.count, "line", "lines")) skipped, the first is \(found.firstLine): "
                    + reason.rawValue
            }
        }
        if refused > 0 { remarks.append(UserCommand.counted(refused, "line is wrong", "lines are wrong")) }
        if withoutPassword > 0 {
            remarks.append(
                "\(UserCommand.counted(withoutPassword, "user has", "users have")) no password: "
                    + "the hash is not of an accepted kind (yescrypt, bcrypt, SHA-512)")
        }
        return remarks
    }

    var json: String {
        JSONWriter.object { json in
            json.member("dryRun", isDryRun)
            json.member("records", records)
            json.member("usersAdded", users.added)
            json.member("usersExisting", users.present)
            json.member("devicesRegistered", devices.added)
            json.member("devicesExisting", devices.present)
            json.member("skipped", skipped.values.reduce(0) { $0 + $1.count })
            json.member("refused", refused)
            json.member("withoutPassword", withoutPassword)
        }.text
    }
}
