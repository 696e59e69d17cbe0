// SPDX-License-Identifier: Apache-2.0

extension StoreStep {
    func judgeSpace(_ facts: StoreFacts) -> [Finding] {
        var findings: [Finding] = []
        if let free = facts.freeBytes, free < Self.scarceBytes {
            let text = "only \(Self.mebibytes(free)) MiB are free where \(path) lies"
            let cure = "make room on that file system: `df -h \(path)`"
            findings.append(free < Self.leastBytes ? .wrong(text, cure: cure) : .warning(text, cure: cure))
        }
        if let free = facts.freeInodes, free < Self.scarceInodes {
            let text = "only \(free) files can still be made where \(path) lies"
            let cure = "remove files from that file system: `df -i \(path)`"
            findings.append(free < Self.leastInodes ? .wrong(text, cure: cure) : .warning(text, cure: cure))
        }
        return findings
    }

    func judgeUsers(_ facts: StoreFacts) -> [Finding] {
        guard needsUsers else {
            return [
                .warning(
                    "auth.method is test: whoever gives a name as password is that user",
                    cure: "\(setting("auth.method")): users")
            ]
        }
        guard facts.users == 0 else { return [] }
        return [.wrong("there are no users, so nobody can log in", cure: "`app-backend user add NAME`")]
    }

    func judgeQueue(_ facts: StoreFacts) -> [Finding] {
        guard delivery != .elsewhere, let queue = facts.queue, queue.count > 0 else { return [] }
        let text = "\(queue.count) messages wait to be delivered, the oldest for \(Self.span(queue.oldestSeconds))"
        guard delivery == .localHub else {
            return [.warning("\(text), and nothing delivers them", cure: "`app-backend keys vapid`; the line `push`")]
        }
        guard queue.oldestSeconds > Self.queueSeconds else { return [] }
        return [
            .warning(
                text, cure: "`journalctl -u app-backend`: which push service does not answer; webPush.proxy, a firewall"
            )
        ]
    }

    func judgeLines(_ facts: StoreFacts) -> [Finding] {
        var findings: [Finding] = []
        if let first = facts.brokenLines.first {
            findings.append(
                .warning(
                    "\(facts.brokenLines.count) lines of the store cannot be read and count as absent; \(path)/\(first) first",
                    cure: "mend the line while the service is stopped, or leave it: tidying puts it into quarantine/"))
        }
        if facts.quarantinedLines > 0 {
            findings.append(
                .warning(
                    "\(facts.quarantinedLines) lines lie in \(path)/quarantine, which could not be read",
                    cure: "look at them, put back what counts while the service is stopped, and remove the files"))
        }
        return findings
    }

    private static func span(_ seconds: Int64) -> String {
        seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) minutes" : "\(seconds / 3600) hours"
    }
}
