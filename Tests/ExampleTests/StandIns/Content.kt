// SPDX-License-Identifier: Apache-2.0
// Android's context, as far as the page of Android uses it. What an app stores lasts as long as the process.
package android.content

import android.app.NotificationManager

class ApplicationInfo {
    @JvmField
    var icon = 1
}

class PackageManager {
    fun getLaunchIntentForPackage(@Suppress("UNUSED_PARAMETER") name: String): Intent? = Intent()
}

class Intent {
    val extras = mutableMapOf<String, String?>()
    fun putExtra(name: String, value: String?) = apply { extras[name] = value }
}

class SharedPreferences {
    private val values = mutableMapOf<String, String?>()
    fun getString(name: String, otherwise: String?): String? = values[name] ?: otherwise
    fun edit() = Editor(values)

    class Editor(private val values: MutableMap<String, String?>) {
        private val changes = mutableMapOf<String, String?>()
        fun putString(name: String, value: String?) = apply { changes[name] = value }
        fun apply() = values.putAll(changes)
    }
}

open class Context {
    val applicationInfo = ApplicationInfo()
    val packageManager = PackageManager()
    val packageName = "com.example.chat"

    fun getSharedPreferences(name: String, @Suppress("UNUSED_PARAMETER") mode: Int) = stored.getOrPut(name) { SharedPreferences() }
    fun getSystemService(@Suppress("UNUSED_PARAMETER") name: String): Any = NotificationManager()

    companion object {
        const val MODE_PRIVATE = 0
        const val NOTIFICATION_SERVICE = "notification"
        private val stored = mutableMapOf<String, SharedPreferences>()
    }
}
