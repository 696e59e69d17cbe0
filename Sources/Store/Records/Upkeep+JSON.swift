// SPDX-License-Identifier: Apache-2.0
package import JSON

/// `{"cleanings":[{"first":0,"last":0,"until":"…","dueAt":"…","attempts":1}],"review":{"until":"…","dueAt":"…"}}`
extension Upkeep {
    package init?(_ value: JSONValue) {
        var cleanings: [Cleaning] = []
        for element in value["cleanings"]?.array ?? [] {
            guard let cleaning = Cleaning(element) else { return nil }
            cleanings.append(cleaning)
        }
        let review = value["review"]
        let schedule = review.flatMap { Schedule($0) }
        guard review == nil || schedule != nil else { return nil }
        self.init(cleanings: cleanings, review: schedule)
    }

    func writeMembers(to json: inout JSONWriter) {
        if !cleanings.isEmpty {
            json.member("cleanings", cleanings) { cleaning, json in
                json.member("first", cleaning.first)
                json.member("last", cleaning.last)
                cleaning.walk?.write(to: &json)
                cleaning.schedule.write(to: &json)
            }
        }
        if let review { json.member("review") { review.write(to: &$0) } }
    }
}

extension Cleaning {
    fileprivate init?(_ value: JSONValue) {
        guard let first = value["first"]?.integer, let last = value["last"]?.integer, first >= 0, last >= first,
            last < .max, let schedule = Schedule(value)
        else { return nil }
        // One that does not fit begins again: a wrong hint must not cost the user's record.
        let walk = value["walk"].flatMap { Walk($0) }.flatMap { (first...last).contains($0.next) ? $0 : nil }
        self.init(first: first, last: last, walk: walk, schedule: schedule)
    }
}

extension Cleaning.Walk {
    fileprivate init?(_ value: JSONValue) {
        guard let next = value["next"]?.integer, let begunAt = value.time("begunAt") else { return nil }
        self.init(next: next, begunAt: begunAt, hasFailed: value["hasFailed"]?.bool ?? false)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("walk") { json in
            json.member("next", next)
            json.member("begunAt", begunAt.text)
            if hasFailed { json.member("hasFailed", true) }
        }
    }
}

extension Schedule {
    fileprivate init?(_ value: JSONValue) {
        guard let until = value.time("until"), let dueAt = value.time("dueAt") else { return nil }
        let attempts = value["attempts"]?.integer ?? 0
        guard attempts >= 0, attempts < .max else { return nil }
        self.init(until: until, dueAt: dueAt, attempts: attempts)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("until", until.text)
        json.member("dueAt", dueAt.text)
        if attempts > 0 { json.member("attempts", attempts) }
    }
}
