// SPDX-License-Identifier: Apache-2.0
// Firebase's messages, as far as the page of Android uses them.
package com.google.firebase.messaging

import android.content.Context

class RemoteMessage(val data: Map<String, String>, val notification: Notification?) {
    class Notification(val title: String?, val body: String?)
}

open class FirebaseMessagingService : Context() {
    open fun onNewToken(token: String) {}
    open fun onMessageReceived(message: RemoteMessage) {}
}
