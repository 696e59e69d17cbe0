// SPDX-License-Identifier: Apache-2.0
// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
using System;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;

static class Program
{
    static async Task Run(string user, string password)
    {
        var login = new Session("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}")));
        // An app keeps this token instead of the password.
        var made = await login.Call<NewToken>("POST", "/api/tokens", new Members
        {
            ["Scopes"] = new[] { "register", "send", "read" }, ["ExpiresInDays"] = 1,
        });
        var app = new Session("Bearer", made.Token);
        try
        {
            // An app makes this id once and keeps it. The handle comes from the device's push service.
            var device = new Members { ["Platform"] = "fcm", ["Handle"] = "token-of-example-csharp" };
            await app.Call<Nothing>("PUT", "/api/register/example-csharp", device);
            var lunch = new Members { ["To"] = user, ["Title"] = "Lunch", ["Body"] = "At noon" };
            var sent = await app.Call<Sent>("POST", "/api/notifications", lunch);
            var code = new Members { ["To"] = user, ["Body"] = "The code is 4711", ["Secure"] = true };
            await app.Call<Sent>("POST", "/api/notifications", code);

            foreach (var message in (await app.Call<Inbox>("GET", "/api/inbox?limit=2")).Messages)
                Console.WriteLine($"{message.From}: {await Text(message, app)}");

            var path = $"/api/notifications/{sent.MessageId}/timeline";
            var timeline = await app.Call<Timeline>("GET", path);
            for (var tries = 0; tries < 30 && timeline.Outcomes.Any(one => one.IsUnderWay); tries++)
            {
                await Task.Delay(1000);
                timeline = await app.Call<Timeline>("GET", path);
            }
            foreach (var one in timeline.Outcomes)
            {
                var counts = one.Counts.Select(count => $", {count.Key} {count.Value}");
                Console.WriteLine($"{one.Platform}: {one.State}{string.Concat(counts)}");
            }
        }
        finally
        {
            await login.Call<Nothing>("DELETE", $"/api/tokens/{made.Id}");
        }
    }

    static async Task<string> Text(Message message, Session app)
    {
        if (!message.Secure) return string.Join(", ", new[] { message.Title, message.Body }.Where(part => part != null));
        // Only the id travelled to the device. Fetching the text marks the message as read.
        return (await app.Call<Fetched>("GET", $"/api/notifications/{message.Id}")).Payload;
    }

    public static string Setting(string name) =>
        Environment.GetEnvironmentVariable(name) ?? throw new Problem($"Please set {name}.");

    static int Main(string[] arguments)
    {
        try
        {
            if (arguments.Length == 4 && arguments[0] == "verify")
            {
                var body = new MemoryStream();
                Console.OpenStandardInput().CopyTo(body);
                var secret = Setting("APP_BACKEND_WEBHOOK_SECRET");
                Webhook.Verify(secret, arguments[1], arguments[2], arguments[3], body.ToArray());
                Console.WriteLine("the signature is right");
            }
            else
            {
                Run(Setting("APP_BACKEND_USER"), Setting("APP_BACKEND_PASSWORD")).GetAwaiter().GetResult();
            }
            return 0;
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(error.GetBaseException().Message);
            return 1;
        }
    }
}
