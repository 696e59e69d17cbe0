// SPDX-License-Identifier: Apache-2.0
import java.security.MessageDigest
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.math.abs

/** Throws for an event that this service has not signed just now. */
fun verify(secret: String, id: String, timestamp: String, signatures: String, body: ByteArray) {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(SecretKeySpec(Base64.getDecoder().decode(secret.removePrefix("whsec_")), "HmacSHA256"))
    mac.update("$id.$timestamp.".toByteArray())
    val wanted = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))
    // A comparison that takes the same time for each wrong signature.
    if (signatures.split(" ").none { MessageDigest.isEqual(it.toByteArray(), wanted.toByteArray()) }) {
        throw Problem("the signature is wrong")
    }
    if (abs(System.currentTimeMillis() / 1000 - timestamp.toLong()) > 300) {
        throw Problem("the signature is right, and the time is more than five minutes off")
    }
}
