// SPDX-License-Identifier: Apache-2.0
// Plays a phone with the page's app: stores the app token, then does each line of its input as Android would.
package com.example.chat

import com.google.firebase.messaging.RemoteMessage
import org.json.JSONObject

fun strings(json: JSONObject?): Map<String, String> = json?.keys()?.asSequence()?.map { it to json.getString(it) }?.toMap().orEmpty()

fun main(arguments: Array<String>) {
    val service = PushService()
    val backend = Backend(service)
    backend.token = arguments[0]
    for (line in generateSequence(::readLine)) {
        val (act, text) = line.split(" ", limit = 2)
        when (act) {
            "token" -> service.onNewToken(text)
            "message" -> {
                val message = JSONObject(text)
                val shown = message.optJSONObject("notification")?.let { strings(it) }
                val notification = shown?.let { RemoteMessage.Notification(it["title"], it["body"]) }
                service.onMessageReceived(RemoteMessage(strings(message.optJSONObject("data")), notification))
            }
            "opened" -> backend.opened(text)
            "inbox" -> println("unread: ${backend.inbox()["Unread"]}")
            "logOut" -> backend.logOut()
        }
        println("done")
    }
}
