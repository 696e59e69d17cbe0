// SPDX-License-Identifier: Apache-2.0
// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.util.Base64
import kotlin.system.exitProcess

/** A refusal, in words. */
class Problem(message: String) : Exception(message)

fun setting(name: String): String = System.getenv(name) ?: throw Problem("Please set $name.")

/** The answer, which is empty where it has no body. */
fun call(method: String, path: String, authorization: String, body: JSONObject? = null): JSONObject {
    val connection = URL(setting("APP_BACKEND_URL") + path).openConnection() as HttpURLConnection
    connection.requestMethod = method
    connection.connectTimeout = 30_000
    connection.readTimeout = 30_000
    connection.setRequestProperty("Authorization", authorization)
    if (body != null) {
        connection.doOutput = true
        connection.setRequestProperty("Content-Type", "application/json")
        connection.outputStream.use { it.write(body.toString().toByteArray()) }
    }
    val status = connection.responseCode
    val stream = if (status in 200..299) connection.inputStream else connection.errorStream
    val text = stream?.use { it.reader().readText() }.orEmpty()
    if (status !in 200..299) throw Problem("$status: ${words(text)}")
    return JSONObject(if (text == "") "{}" else text)
}

/** An answer of application/problem+json names the reason, and the field at fault. */
fun words(answer: String): String = try {
    val problem = JSONObject(answer)
    problem.getString("detail") + if (problem.has("field")) " (${problem["field"]})" else ""
} catch (error: JSONException) {
    "the answer gives no reason"
}

fun objects(list: JSONArray): List<JSONObject> = (0 until list.length()).map { list.getJSONObject(it) }

fun text(message: JSONObject, token: String): String {
    if (!message.getBoolean("Secure")) {
        return listOf("Title", "Body").filter { message.has(it) }.joinToString { message.getString(it) }
    }
    // Only the id travelled to the device. Fetching the text marks the message as read.
    return call("GET", "/api/notifications/${message["Id"]}", token).getString("Payload")
}

fun run(user: String, password: String) {
    val logIn = "Basic " + Base64.getEncoder().encodeToString("$user:$password".toByteArray())
    // An app keeps this token instead of the password.
    val scopes = JSONArray(listOf("register", "send", "read"))
    val made = call("POST", "/api/tokens", logIn, JSONObject().put("Scopes", scopes).put("ExpiresInDays", 1))
    val token = "Bearer " + made["Token"]
    try {
        // An app makes this id once and keeps it. The handle comes from FirebaseMessaging.
        val device = JSONObject(mapOf("Platform" to "fcm", "Handle" to "token-of-example-kotlin"))
        call("PUT", "/api/register/example-kotlin", token, device)
        val lunch = JSONObject(mapOf("To" to user, "Title" to "Lunch", "Body" to "At noon"))
        val sent = call("POST", "/api/notifications", token, lunch)
        val code = JSONObject(mapOf("To" to user, "Body" to "The code is 4711", "Secure" to true))
        call("POST", "/api/notifications", token, code)

        val inbox = call("GET", "/api/inbox?limit=2", token)
        objects(inbox.getJSONArray("Messages")).forEach { println("${it["From"]}: ${text(it, token)}") }

        val timeline = "/api/notifications/${sent["MessageId"]}/timeline"
        var outcomes = objects(call("GET", timeline, token).getJSONArray("Outcomes"))
        for (tries in 1..30) {
            if (outcomes.none { it["State"] in listOf("Enqueued", "Processing") }) break
            Thread.sleep(1000)
            outcomes = objects(call("GET", timeline, token).getJSONArray("Outcomes"))
        }
        for (outcome in outcomes) {
            val counts = outcome.getJSONObject("Counts")
            val words = counts.keys().asSequence().map { ", $it ${counts[it]}" }.joinToString("")
            println("${outcome["Platform"]}: ${outcome["State"]}$words")
        }
    } finally {
        call("DELETE", "/api/tokens/${made["Id"]}", logIn)
    }
}

fun main(arguments: Array<String>) = try {
    if (arguments.firstOrNull() == "verify") {
        val (id, timestamp, signatures) = arguments.drop(1)
        verify(setting("APP_BACKEND_WEBHOOK_SECRET"), id, timestamp, signatures, System.`in`.readBytes())
        println("the signature is right")
    } else {
        run(setting("APP_BACKEND_USER"), setting("APP_BACKEND_PASSWORD"))
    }
} catch (error: Exception) {
    System.err.println(error.message)
    exitProcess(1)
}
