// SPDX-License-Identifier: Apache-2.0

/// How a secure push shows itself on Apple's devices. Neither form carries sender or text.
package enum SecureForm: Equatable, Sendable {
    /// The tutorial's: a background push, which wakes the app. Apple delivers a few of them an hour, and none to an app that
    /// the user has ended.
    case silent
    /// An alert with the same words for all messages. The app's notification service extension fetches the message and shows
    /// it instead (`mutable-content`); an app without one shows these words, and is woken as by the silent form.
    case alert(text: String, localizationKey: String?)

    /// Of the text and of the key, so that the whole fits into what Apple takes.
    package static let maximumBytes = 1_000
    package static let defaultText = "You have a new secure message."
}
