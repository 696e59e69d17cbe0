// SPDX-License-Identifier: Apache-2.0

/// A header field that goes with a notification to its push service: `X-WNS-Type: wns/toast`.
package struct PushHeader: Hashable, Sendable {
    package var name: String
    /// Of a template it may hold expressions.
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
