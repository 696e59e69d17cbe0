// SPDX-License-Identifier: Apache-2.0
using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Threading.Tasks;

/// <summary>Makes calls with one set of credentials.</summary>
class Session
{
    static readonly HttpClient Client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
    static readonly DataContractJsonSerializerSettings Json = new DataContractJsonSerializerSettings
    {
        UseSimpleDictionaryFormat = true,
        EmitTypeInformation = EmitTypeInformation.Never,
        KnownTypes = new[] { typeof(string[]) },
    };
    readonly AuthenticationHeaderValue authorization;

    public Session(string scheme, string credentials) => authorization = new AuthenticationHeaderValue(scheme, credentials);

    public async Task<Answer> Call<Answer>(string method, string path, Members body = null) where Answer : class
    {
        var url = Program.Setting("APP_BACKEND_URL") + path;
        var request = new HttpRequestMessage(new HttpMethod(method), url);
        request.Headers.Authorization = authorization;
        if (body != null)
        {
            request.Content = new ByteArrayContent(Write(body));
            request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        }
        using (var response = await Client.SendAsync(request))
        {
            var bytes = await response.Content.ReadAsByteArrayAsync();
            if (response.IsSuccessStatusCode) return bytes.Length == 0 ? null : Read<Answer>(bytes);
            throw new Problem($"{(int)response.StatusCode}: {Words(bytes)}");
        }
    }

    /// <summary>An answer of application/problem+json names the reason, and the field at fault.</summary>
    static string Words(byte[] answer)
    {
        try
        {
            var details = Read<Details>(answer);
            return details.detail + (details.field == null ? "" : $" ({details.field})");
        }
        catch (SerializationException)
        {
            return "the answer gives no reason";
        }
    }

    static Answer Read<Answer>(byte[] bytes) where Answer : class =>
        (Answer)new DataContractJsonSerializer(typeof(Answer), Json).ReadObject(new MemoryStream(bytes));

    static byte[] Write(Members members)
    {
        var stream = new MemoryStream();
        new DataContractJsonSerializer(typeof(Members), Json).WriteObject(stream, members);
        return stream.ToArray();
    }
}

/// <summary>A refusal, in words.</summary>
class Problem : Exception
{
    public Problem(string words) : base(words) { }
}

/// <summary>A request's body.</summary>
public class Members : Dictionary<string, object> { }

// The members that are read of the answers.
public class Nothing { }
public class NewToken { public string Token, Id; }
public class Sent { public string MessageId; }
public class Inbox { public Message[] Messages; }
public class Message { public int Id; public bool Secure; public string From, Title, Body; }
public class Fetched { public string Payload; }
public class Timeline { public Outcome[] Outcomes; }
public class Details { public string detail, field; }

public class Outcome
{
    public string Platform, State;
    public Dictionary<string, int> Counts;

    [IgnoreDataMember]
    public bool IsUnderWay => State == "Enqueued" || State == "Processing";
}
