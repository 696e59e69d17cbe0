// SPDX-License-Identifier: Apache-2.0
using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

static class Webhook
{
    /// <summary>Throws for an event that this service has not signed just now.</summary>
    public static void Verify(string secret, string id, string timestamp, string signatures, byte[] body)
    {
        var key = Convert.FromBase64String(secret.Substring("whsec_".Length));
        var content = Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray();
        using (var hmac = new HMACSHA256(key))
        {
            var wanted = "v1," + Convert.ToBase64String(hmac.ComputeHash(content));
            if (!signatures.Split(' ').Any(one => AreEqual(one, wanted))) throw new Problem("the signature is wrong");
        }
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) > 300)
            throw new Problem("the signature is right, and the time is more than five minutes off");
    }

    /// <summary>Takes the same time for each wrong text. Newer .NET has CryptographicOperations.FixedTimeEquals.</summary>
    static bool AreEqual(string one, string other) =>
        one.Length == other.Length && one.Zip(other, (a, b) => a ^ b).Aggregate(0, (all, bits) => all | bits) == 0;
}
