// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// A row of the table of settings: everything that the program and its documentation say of a key. Reading, faults, unknown keys,
/// `config show`, secrets, reloads, `config list`, the schema and the page of the reference follow from it.
package struct Setting: Sendable {
    /// The values that a key takes.
    package enum Form: Equatable, Sendable {
        case text
        case number(ClosedRange<Int>)
        case flag
        /// One of these words, in any case.
        case choice([String])
        /// `nil`: any texts.
        case list(of: [String]? = nil)
        /// One group of keys, or a list of up to so many. `nil`: of any number.
        case groups(atMost: Int? = nil)
    }

    /// How the value is handled.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// It is never shown, and may be a file of `$CREDENTIALS_DIRECTORY` (systemd's `LoadCredential=`), named like the key.
        package static let secret = Traits(rawValue: 1)
        /// A secret of several lines.
        static let document = Traits(rawValue: 2)
        /// An address that may have a password in it.
        static let address = Traits(rawValue: 4)
        /// A reload does not change it.
        package static let fixed = Traits(rawValue: 8)
    }

    typealias Shown = ConfigurationSetting.Value
    typealias Member<Value> = WritableKeyPath<SiteConfiguration, Value> & Sendable

    package let key: String
    package let form: Form
    package let traits: Traits
    /// The default in words. `nil`: the value that the defaults have.
    package let defaultText: String?
    /// The sentences of the reference, in Markdown.
    package let about: String
    /// Reads the value into its member. `nil`: a function that reads several keys does it.
    let read: (@Sendable (inout SiteConfiguration, inout ConfigurationReading) -> Void)?
    /// Returns the values in force with their keys, which have a number in a list of groups.
    let values: @Sendable (SiteConfiguration) -> [(key: String, value: Shown)]
    /// Puts the value of the running process into a configuration that has another. `nil`: a reload may change it.
    /// - Returns: whether it was another one.
    let keep: (@Sendable (inout SiteConfiguration, SiteConfiguration) -> Bool)?

    /// - Parameters:
    ///   - values: as the member.
    ///   - read: as the member.
    ///   - keep: as the member.
    init(
        key: String, _ form: Form, is traits: Traits = [], default words: String? = nil, _ about: String,
        values: @escaping @Sendable (SiteConfiguration) -> [(key: String, value: Shown)],
        read: (@Sendable (inout SiteConfiguration, inout ConfigurationReading) -> Void)? = nil,
        keep: (@Sendable (inout SiteConfiguration, SiteConfiguration) -> Bool)? = nil
    ) {
        (self.key, self.form, self.traits, self.about) = (key, form, traits, about)
        (self.defaultText, self.values, self.read, self.keep) = (words, values, read, keep)
    }

    /// A key that a function reads together with others.
    /// - Parameters:
    ///   - shown: the value in force. `nil`: none.
    ///   - keep: as the member.
    init(
        _ key: String, _ form: Form, is traits: Traits = [], default words: String? = nil, _ about: String,
        shown: @escaping @Sendable (SiteConfiguration) -> Shown? = { _ in nil },
        keep: (@Sendable (inout SiteConfiguration, SiteConfiguration) -> Bool)? = nil
    ) {
        self.init(
            key: key, form, is: traits, default: words, about,
            values: { configuration in shown(configuration).map { [(key, $0)] } ?? [] }, keep: keep)
    }
}

extension Setting {
    /// A key whose value is a member.
    /// - Parameter check: returns the reason for which a value is wrong. `nil`: it is right.
    private init<Value: Equatable & Sendable>(
        _ key: String, _ form: Form, _ member: Member<Value>, _ traits: Traits, _ words: String?, _ about: String,
        check: (@Sendable (Value) -> String?)? = nil, shown: @escaping @Sendable (Value) -> Shown?,
        read: @escaping @Sendable (inout ConfigurationReading) -> Value?
    ) {
        self.init(
            key: key, form, is: traits, default: words, about,
            values: { configuration in shown(configuration[keyPath: member]).map { [(key, $0)] } ?? [] },
            read: { configuration, reading in
                guard let value = read(&reading) else { return }
                configuration[keyPath: member] = value
                if let reason = check?(value) { reading.fault(key, reason) }
            },
            keep: traits.contains(.fixed) ? Self.keeping(member) : nil)
    }

    /// As the member `keep`.
    static func keeping<Value: Equatable & Sendable>(
        _ member: Member<Value>
    ) -> @Sendable (inout SiteConfiguration, SiteConfiguration) -> Bool {
        { wanted, running in
            guard wanted[keyPath: member] != running[keyPath: member] else { return false }
            wanted[keyPath: member] = running[keyPath: member]
            return true
        }
    }

    static func number(
        _ key: String, _ member: Member<Int>, _ range: ClosedRange<Int>, is traits: Traits = [],
        default words: String? = nil, _ about: String
    ) -> Setting {
        Setting(key, .number(range), member, traits, words, about, shown: { .text("\($0)") }) { $0.number(key) }
    }

    static func flag(_ key: String, _ member: Member<Bool>, is traits: Traits = [], _ about: String) -> Setting {
        Setting(key, .flag, member, traits, nil, about, shown: { .text("\($0)") }) { $0.flag(key) }
    }

    static func text(
        _ key: String, _ member: Member<String>, is traits: Traits = [], default words: String? = nil, _ about: String,
        check: (@Sendable (String) -> String?)? = nil
    ) -> Setting {
        Setting(key, .text, member, traits, words, about, check: check, shown: { .text($0) }) { $0.text(key) }
    }

    /// A text that there need not be.
    static func optional(
        _ key: String, _ member: Member<String?>, is traits: Traits = [], default words: String? = nil, _ about: String,
        check: (@Sendable (String) -> String?)? = nil
    ) -> Setting {
        Setting(
            key, .text, member, traits, words, about, check: { $0.flatMap { check?($0) } },
            shown: { $0.map { .text($0) } }
        ) { $0.text(key) }
    }

    /// The path of a file with certificates.
    static func certificates(_ key: String, _ member: Member<String?>, _ about: String) -> Setting {
        Setting(key, .text, member, [], "the system's", about, shown: { $0.map { .text($0) } }) { $0.certificates(key) }
    }

    static func list(
        _ key: String, _ member: Member<[String]>, is traits: Traits = [], _ about: String,
        check: (@Sendable ([String]) -> String?)? = nil
    ) -> Setting {
        Setting(key, .list(), member, traits, nil, about, check: check, shown: { .list($0) }) { $0.list(key) }
    }

    /// Patterns of tags or of recipients.
    static func patterns(_ key: String, _ member: Member<[String]>, _ about: String) -> Setting {
        Setting(key, .list(), member, [], nil, about, shown: { .list($0) }) { $0.patterns(key) }
    }

    /// One word out of several.
    static func choice<Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ key: String, _ member: Member<Value>, is traits: Traits = [], _ about: String
    ) -> Setting {
        let words = Value.allCases.map(\.rawValue)
        return Setting(key, .choice(words), member, traits, nil, about, shown: { .text($0.rawValue) }) {
            $0.choice(key)
        }
    }

    /// A list of words out of several.
    static func choices<Value: RawRepresentable<String> & Equatable & Sendable>(
        _ key: String, _ member: Member<[Value]>, of all: [Value], _ about: String
    ) -> Setting {
        let words = all.map(\.rawValue)
        return Setting(key, .list(of: words), member, [], nil, about, shown: { .list($0.map(\.rawValue)) }) { reading in
            reading.list(key).map { reading.values(all, named: $0, key) }
        }
    }

    /// A text that is read by a type of its own.
    /// - Parameter channel: the platform that is off because of a fault. `nil`: a service cannot start.
    static func parsed<Value: Sendable>(
        _ key: String, _ member: Member<Value?>, is traits: Traits = [], of channel: Platform? = nil,
        default words: String? = nil, _ about: String, parse: @escaping @Sendable (String) throws -> Value
    ) -> Setting {
        Setting(
            key: key, .text, is: traits, default: words, about, values: { _ in [] },
            read: { configuration, reading in
                guard let text = reading.text(key) else { return }
                do {
                    configuration[keyPath: member] = try parse(text)
                } catch {
                    reading.fault(key, "\(error)", of: channel)
                }
            })
    }
}
