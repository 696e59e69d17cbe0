// SPDX-License-Identifier: Apache-2.0

/// A hub that a REST face can be put in front of: what its clients ask for beyond what a backend does, and why it refuses.
package protocol ServableHub: Hub {
    /// A new id; nothing is stored under it.
    func newRegistrationID() -> RegistrationID

    /// - Throws: `ServableHubError`, as all that follow: `noSuchRegistration`, `storage`.
    func find(_ id: RegistrationID) throws(ServableHubError) -> RegistrationDescription

    /// Always a new registration, also for a handle that has one.
    /// - Throws: `invalid`.
    func create(_ description: RegistrationDescription) throws(ServableHubError) -> RegistrationDescription

    /// Creates the registration or replaces it.
    /// - Parameter condition: nil: whether there is one or not. Else there must be one, at that version.
    /// - Throws: `invalid`; `noSuchRegistration` and `versionMismatch` where there is a condition; `conflict`.
    func put(
        _ description: RegistrationDescription, under id: RegistrationID, replacing condition: VersionCondition?
    ) throws(ServableHubError) -> RegistrationDescription

    /// - Throws: `noSuchRegistration`, `versionMismatch`.
    func remove(_ id: RegistrationID, at condition: VersionCondition) throws(ServableHubError)

    /// A page of registrations.
    /// - Parameters:
    ///   - after: `next` of the page before; nil for the first one.
    ///   - limit: how many at most.
    /// - Throws: `invalid`, when `after` was not made by this hub.
    func list(
        _ selection: RegistrationSelection, after: String?, limit: Int
    ) throws(ServableHubError) -> RegistrationPage

    /// - Throws: `noSuchInstallation`, `storage`.
    func installation(_ id: String) throws(ServableHubError) -> Installation

    /// Creates the installation or replaces it.
    /// - Throws: `conflict`.
    func put(_ installation: Installation) throws(ServableHubError)

    /// Makes all changes or none.
    /// - Parameter check: hears of the installation after the changes, and may refuse it.
    /// - Throws: `noSuchInstallation`, `invalid`, `conflict`, and what `check` throws.
    func change(
        _ id: String, by patch: InstallationPatch, check: (Installation) throws(ServableHubError) -> Void
    ) throws(ServableHubError)

    /// Does nothing if there is none.
    func removeInstallation(_ id: String) throws(ServableHubError)

    /// Takes a message, which is then delivered, or from its time on. One that is larger than its service takes is recorded as such, as Azure
    /// does; so is one without a target.
    /// - Throws: `limitReached`, when the queue is full.
    func send(_ notification: HubNotification, to audience: HubAudience) throws(ServableHubError) -> SendReceipt

    /// Delivers at once, to a few devices among the hub's own registrations, and waits for the outcome of each.
    func sendTest(_ notification: HubNotification, to audience: HubAudience) throws(ServableHubError) -> TestSend

    /// Cancels a message that waits for its time.
    /// - Parameter asManager: false hides what a backend has sent that shares the hub.
    /// - Throws: `noSuchMessage`, also when its time has come.
    func cancel(_ id: String, asManager: Bool) throws(ServableHubError)

    /// What became of a message.
    /// - Parameter asManager: as above.
    /// - Throws: `noSuchMessage`.
    func message(_ id: String, asManager: Bool) throws(ServableHubError) -> NotificationDetails
}

/// Which registration a write may replace.
package enum VersionCondition: Equatable, Sendable {
    case any
    case version(Int)

    /// Whether a registration at that version is one of them.
    package func matches(_ version: Int) -> Bool { self == .any || self == .version(version) }
}

/// Which registrations a list is of.
package enum RegistrationSelection: Sendable {
    case all
    case tag(Tag)
    case device(ChannelQuery)
}

/// Some registrations of a list.
package struct RegistrationPage: Sendable {
    package var registrations: [RegistrationDescription]
    /// Where the next page begins; nil: there is none.
    package var next: String?

    package init(registrations: [RegistrationDescription], next: String?) {
        self.registrations = registrations
        self.next = next
    }
}

/// To whom a message goes.
package enum HubAudience: Sendable {
    /// The devices that the expression names; nil: all of the format.
    case tags(TagExpression?)
    /// Devices of one platform, which need not be registered.
    case devices([DeviceHandle])
}

/// A message that was delivered at once.
package struct TestSend: Sendable {
    /// One device, and what became of the message there.
    package struct Result: Sendable {
        /// Nil where the device is not registered.
        package let registrationID: String?
        package let handle: DeviceHandle
        /// `Success`, `Skipped` and others.
        package let outcome: String
        package let isSuccess: Bool

        package init(registrationID: String?, handle: DeviceHandle, outcome: String, isSuccess: Bool) {
            self.registrationID = registrationID
            self.handle = handle
            self.outcome = outcome
            self.isSuccess = isSuccess
        }
    }

    package let notificationID: String
    package let results: [Result]

    package init(notificationID: String, results: [Result]) {
        self.notificationID = notificationID
        self.results = results
    }
}
