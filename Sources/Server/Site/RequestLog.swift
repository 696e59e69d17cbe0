// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Logging
import Metrics
import NotificationHub

extension MeasuredAnswer {
    /// A line of each answer, for those who ask for `debug`: on a shared host the web server's log may be out of reach, and
    /// a hub's callers know their requests by ids of their own (`tracking`).
    func log(to logger: Logger) {
        logger.debug("answered", metadata: metadata)
    }

    private var metadata: Logger.Metadata {
        var pairs: Logger.Metadata = [
            "request": "\(requestID)", "method": "\(method.rawValue)", "route": "\(route)",
            "status": "\(status.code)", "milliseconds": "\((duration / .microseconds(1)).rounded() / 1000)",
        ]
        if let id = fields[.trackingID] { pairs["tracking"] = "\(id)" }
        return pairs
    }
}
