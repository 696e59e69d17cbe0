// SPDX-License-Identifier: Apache-2.0
import AppBackend
import FastCGI

extension SiteConfiguration {
    /// Reads file, environment and credentials.
    /// - Returns: the configuration, and every fault that was found; nil when the file itself is unusable.
    package static func load(
        file: String?, environment: Environment = .process, table: SettingTable = .all
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        load(file: file, environment, CredentialFiles(environment, table), table)
    }

    /// As the service will read it. Files are read as the service's user, where this process is root's; credentials as root, as
    /// systemd reads them.
    package static func loadAsService(
        file: String?, environment: Environment
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        let credentials = CredentialFiles(environment, .all)
        let read = load(file: file, environment, credentials, .all)
        // What root cannot read, no other user can.
        guard let configuration = read.0 else { return read }
        return StoreOwner.asServiceUser(of: configuration, environment) {
            load(file: file, environment, credentials, .all)
        }
    }

    private static func load(
        file: String?, _ environment: Environment, _ credentials: CredentialFiles, _ table: SettingTable
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        let sources: ConfigurationSources
        do throws(ConfigurationFault) {
            sources = try ConfigurationSources(file: file, environment, credentials, table)
        } catch {
            return (nil, [error])
        }
        var reading = ConfigurationReading(sources)
        var configuration = SiteConfiguration(&reading)
        configuration.channelFaults = reading.faults.filter { $0.channel != nil }
        configuration.exposures = configuration.exposures(
            file: sources.path.map { ($0, sources.file.mapValues(\.joined)) },
            credentials: sources.credentialPaths.merging(reading.secretFiles) { first, _ in first })
        return (configuration, sources.faults + reading.faults + reading.defects)
    }

    private init(_ reading: inout ConfigurationReading) {
        self.init()
        table = reading.table
        for row in table.rows { row.read?(&self, &reading) }
        readHub(&reading)
        readLocalHub(&reading)
        readWebPush(&reading)
        readApps(&reading)
        store = StoreLocation(&reading)
        do throws(ListenError) {
            _ = try ListenAddress(listen, allowNonLoopback: allowsRemotePeers)
        } catch {
            reading.fault("listen", "\(error)")
        }
        // Issuers give roles.
        readRoles(&reading)
        readNewUsers(&reading)
        readAuthentication(&reading)
        readSecureForm(&reading)
        if countsBadges, plainDays == 0 {
            reading.fault("inbox.badges", "counts the messages of inboxes, which are kept with inbox.plainDays alone")
        }
        readWebhooks(&reading)
    }

    /// The values of `secure.form`.
    enum SecureFormName: String, CaseIterable { case silent, alert }

    private mutating func readSecureForm(_ reading: inout ConfigurationReading) {
        let (text, key) = (reading.text("secure.text"), reading.text("secure.locKey"))
        let name: SecureFormName? = reading.choice("secure.form")
        if name == .alert {
            secureForm = .alert(text: text ?? SecureForm.defaultText, localizationKey: key)
        } else if text != nil || key != nil {
            reading.fault(text != nil ? "secure.text" : "secure.locKey", "is shown only with secure.form alert")
        }
        for (key, text) in [("secure.text", text), ("secure.locKey", key)] {
            guard let text, text.utf8.count > SecureForm.maximumBytes || text.utf8.contains(where: { $0 < 0x20 })
            else { continue }
            reading.fault(key, "must be one line of at most \(SecureForm.maximumBytes) bytes")
        }
    }
}
