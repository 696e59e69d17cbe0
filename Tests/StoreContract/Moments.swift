// SPDX-License-Identifier: Apache-2.0
package import Text

/// The time at which the contract begins; no store has a clock of its own.
package let noon = Timestamp(seconds: 1_800_000_000)
package let nextDay = noon + 86_400
