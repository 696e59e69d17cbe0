// SPDX-License-Identifier: Apache-2.0
// Android's notifications, as far as the page of Android uses them. One that is shown is printed.
package android.app

import android.content.Context
import android.content.Intent

class Notification(val title: String?, val text: String?, val opens: PendingIntent?) {
    class Builder(@Suppress("UNUSED_PARAMETER") context: Context, @Suppress("UNUSED_PARAMETER") channel: String) {
        private var title: String? = null
        private var text: String? = null
        private var opens: PendingIntent? = null
        fun setSmallIcon(@Suppress("UNUSED_PARAMETER") icon: Int) = this
        fun setContentTitle(value: CharSequence?) = apply { title = value?.toString() }
        fun setContentText(value: CharSequence?) = apply { text = value?.toString() }
        fun setAutoCancel(@Suppress("UNUSED_PARAMETER") value: Boolean) = this
        fun setContentIntent(value: PendingIntent?) = apply { opens = value }
        fun build() = Notification(title, text, opens)
    }
}

class NotificationManager {
    fun notify(@Suppress("UNUSED_PARAMETER") id: Int, shown: Notification) =
        println("${shown.title}: ${shown.text} (${shown.opens?.intent?.extras?.get("messageId")})")
}

class PendingIntent(val intent: Intent) {
    companion object {
        const val FLAG_IMMUTABLE = 1 shl 26
        const val FLAG_UPDATE_CURRENT = 1 shl 27

        @Suppress("UNUSED_PARAMETER")
        @JvmStatic
        fun getActivity(context: Context, request: Int, intent: Intent, flags: Int) = PendingIntent(intent)
    }
}
