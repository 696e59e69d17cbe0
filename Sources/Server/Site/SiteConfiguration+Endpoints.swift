// SPDX-License-Identifier: Apache-2.0
import AppBackend
import NotificationHub
import WNS
import WebPush

extension SiteConfiguration {
    /// What may be registered, because the built-in hub's drivers send there. Another hub decides for itself.
    var endpoints: EndpointPolicy {
        guard hub.connection == nil else { return EndpointPolicy() }
        let hosts = webPush.hosts
        return EndpointPolicy { handle in
            switch handle.value {
            case .browser(let subscription): hosts.allow(endpoint: subscription.endpoint)
            case .wns(let uri): WNSDriver.sends(to: uri)
            default: true
            }
        }
    }
}
