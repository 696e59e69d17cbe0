// SPDX-License-Identifier: Apache-2.0
package import Text

/// What became of a message (`GET /{hub}/messages/{id}`).
package struct NotificationDetails: Equatable, Sendable {
    /// The state of a message that no device was addressed by.
    package static let noTargetFound = "NoTargetFound"

    package var id: String
    /// `sb://` and the path of the message.
    package var location: String?
    /// `Enqueued`, `Processing`, `Completed`, `Abandoned`, `NoTargetFound`, `Cancelled`, `Unknown`; text, because
    /// clients of different age know different ones.
    package var state: String
    /// Times as the hub writes them: `2015-11-02T21:19:43.9926996Z`.
    package var enqueueTime: String?
    /// When the hub began to deliver, and when it had told every service; nil before that.
    package var startTime: String?
    package var endTime: String?
    /// The message's text. Secret.
    package var body: Secret?
    /// The tag expression.
    package var tags: String?
    /// Names of formats, joined by commas: `windows,apple`.
    package var targetPlatforms: String?
    /// How many devices met which fate, per platform in the hub's order.
    package var outcomes: [PlatformOutcomes]
    /// Where the errors of the push services are written down.
    package var errorDetailsURI: String?
    /// Why the message waits for something that an operator must correct, for the operator; nil: it does not. Of the built-in hub in this process:
    /// Azure's language has no word for it.
    package var waitReason: String?
    /// What a push service said that keeps a device waiting, which needs no correction; nil as `waitReason` is.
    package var serviceReason: String?
    /// What became of it at each device, for the operator, where they are few. Of the built-in hub in this process, too; Azure tells no
    /// more than counts.
    package var devices: [DeviceOutcome] = []

    package init(
        id: String, location: String? = nil, state: String, enqueueTime: String? = nil, startTime: String? = nil,
        endTime: String? = nil, body: Secret? = nil, tags: String? = nil, targetPlatforms: String? = nil,
        outcomes: [PlatformOutcomes] = [], errorDetailsURI: String? = nil
    ) {
        self.id = id
        self.location = location
        self.state = state
        self.enqueueTime = enqueueTime
        self.startTime = startTime
        self.endTime = endTime
        self.body = body
        self.tags = tags
        self.targetPlatforms = targetPlatforms
        self.outcomes = outcomes
        self.errorDetailsURI = errorDetailsURI
    }
}

/// The fate of a message at one device.
package struct DeviceOutcome: Equatable, Sendable {
    package var registrationID: String
    /// As `PlatformOutcomes.Count` names it.
    package var name: String
    package var isSuccess: Bool { name == "Success" }

    package init(registrationID: String, name: String) {
        (self.registrationID, self.name) = (registrationID, name)
    }
}

/// The fates of a message at one push service.
package struct PlatformOutcomes: Equatable, Sendable {
    /// One line: `Success`, 3.
    package struct Count: Equatable, Sendable {
        /// `Success`, `WrongToken`, `ExpiredChannel` and others.
        package var name: String
        /// Devices.
        package var count: Int

        package init(_ name: String, _ count: Int) {
            self.name = name
            self.count = count
        }
    }

    package var platform: Platform
    /// In the order in which the hub tells them.
    package var counts: [Count]

    package init(_ platform: Platform, _ counts: [Count]) {
        self.platform = platform
        self.counts = counts
    }
}
