// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import Text

import class System.Lock

/// The texts of one site that no log may hold.
final class Secrets: Sendable {
    private let texts = Lock<[String]>([])

    /// Makes one that is found nowhere else.
    func make(_ prefix: String) -> String {
        let text = prefix + UUID().uuidString
        add(text)
        return text
    }

    func add(_ text: String) {
        texts.withLock { $0.append(text) }
    }

    /// Each as it is, percent-encoded as in a query, and in base 64 as in a header field.
    var forms: [String] {
        texts.withLock(\.self).flatMap { text in
            [text, PercentEncoding.encode(text), Data(text.utf8).base64EncodedString()].map { $0.lowercased() }
        }
    }
}

extension WireSite {
    /// What the processes have written to be read: both nginx's logs, all that nginx has put down, and standard output
    /// and error of every responder.
    var writings: [String] {
        let responders = (backends + [hub]).map(\.logPath)
        let nginx = [door.folder, hubDoor.folder].flatMap { folder in
            (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).map {
                "\(folder)/\($0)"
            }
        }
        return responders + nginx
    }

    /// Fails when a password, key, handle, token or message of this site's tests is in any of the writings.
    func expectSilence() throws {
        let forms = secrets.forms
        var read = ""
        for path in writings {
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            read += text
            let lower = text.lowercased()
            for form in forms where lower.contains(form) {
                let line = lower.split(separator: "\n").first { $0.contains(form) } ?? ""
                Issue.record("\(path) holds a secret: \(line)")
            }
        }
        // The search has searched something.
        #expect(read.contains("listens on") && read.contains(#"/api/register""#))
    }
}
