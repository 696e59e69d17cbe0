// SPDX-License-Identifier: Apache-2.0
import Crypto

/// The ids of an installation's registrations have the same two numbers, which its own id makes, and count behind them. The one with 0
/// is of the installation's record, and no registration has it.
extension RegistrationID {
    /// - Parameter installation: in any case, as tags are compared.
    package init(installation: String, number: Int = 0) {
        let bytes = Array(SHA256.hash(data: Array(installation.lowercased().utf8)))
        let halves = [bytes[0..<8], bytes[8..<16]].map { half in
            half.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1
        }
        self.init(unchecked: "\(halves[0])-\(halves[1])-\(number)")
    }

    /// The id of the installation's record and the number of the registration, if it is one of an installation; nil for ids of other forms.
    package var ofInstallation: (record: RegistrationID, number: Int)? {
        let parts = description.utf8.split(separator: UInt8(ascii: "-")).map { String(Substring($0)) }
        guard parts.count == 3, let number = Int(parts[2]), number > 0,
            let record = RegistrationID("\(parts[0])-\(parts[1])-0")
        else { return nil }
        return (record, number)
    }
}
