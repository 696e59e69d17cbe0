// SPDX-License-Identifier: Apache-2.0
import java.util.Base64;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AppTokensApi;
import org.openapitools.client.api.DeliveryApi;
import org.openapitools.client.api.DevicesApi;
import org.openapitools.client.api.InboxApi;
import org.openapitools.client.api.SendingApi;
import org.openapitools.client.model.AppTokenWish;
import org.openapitools.client.model.BrowserKeys;
import org.openapitools.client.model.DeviceRegistration;
import org.openapitools.client.model.InboxMessage;
import org.openapitools.client.model.MessageObject;
import org.openapitools.client.model.MessageTimeline;
import org.openapitools.client.model.Problem;
import org.openapitools.client.model.Scope;
import org.openapitools.client.model.SendOutcome;

/** What an app does, by the client that openapi-generator has made. */
public class Drive {
    static final String USER = System.getenv("APP_USER");

    static ApiClient caller(String authorization) {
        return new ApiClient()
            .setHttpClientBuilder(java.net.http.HttpClient.newBuilder())
            .setRequestInterceptor(request -> request.header("Authorization", authorization));
    }

    static ApiClient at(ApiClient client) {
        client.updateBaseUri(System.getenv("APP_URL"));
        return client;
    }

    public static void main(String[] arguments) throws Exception {
        String pair = USER + ":" + System.getenv("APP_PASSWORD");
        ApiClient basic = at(caller("Basic " + Base64.getEncoder().encodeToString(pair.getBytes("UTF-8"))));
        AppTokenWish wish = new AppTokenWish().scopes(java.util.Set.of(Scope.SEND, Scope.READ, Scope.REGISTER)).label("Drive");
        ApiClient client = at(caller("Bearer " + new AppTokensApi(basic).createToken(wish).getToken()));

        DevicesApi devices = new DevicesApi(client);
        devices.registerDevice("drive-java", new DeviceRegistration()
            .platform(DeviceRegistration.PlatformEnum.BROWSER)
            .handle(System.getenv("APP_HANDLE"))
            .keys(new BrowserKeys().p256dh(System.getenv("APP_P256DH")).auth(System.getenv("APP_AUTH"))));
        System.out.println("device " + devices.listDevices().get(0).getPlatform());

        SendingApi sending = new SendingApi(client);
        SendOutcome sent = sending.sendMessage(new MessageObject().to(USER).title("Lunch").body("At noon"), null);
        sending.sendMessage(new MessageObject().to(List.of(USER)).body("4711").secure(true), null);
        System.out.println("sent " + sent.getOutcomes().get(0).getPlatform());

        InboxApi inbox = new InboxApi(client);
        for (InboxMessage message : inbox.listInbox(true, null, null, null).getMessages()) {
            if (message.getSecure()) {
                System.out.println("secure " + inbox.readSecureMessage(message.getId().toString()).getPayload());
            } else {
                inbox.markAsRead(message.getId());
                System.out.println("plain " + message.getBody());
            }
        }
        String tag = inbox.listInboxWithHttpInfo(null, null, null, null).getHeaders().get("etag").get(0);
        System.out.println("unchanged " + status(() -> inbox.listInbox(null, null, null, tag)).getCode());

        MessageTimeline delivery = new DeliveryApi(client).readDeliveryStatus(sent.getMessageId());
        System.out.println("delivery " + delivery.getOutcomes().get(0).getPlatform() + (delivery.getRead() ? " read" : " unread"));

        ApiException refused = status(() -> sending.sendMessage(new MessageObject().to(USER).body("At noon").badge(-1), null));
        Problem problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
        System.out.println("refused " + problem.getStatus() + " " + problem.getField());
    }

    interface Call {
        void run() throws ApiException;
    }

    /** Every status but success is an exception, 304, too. */
    static ApiException status(Call call) {
        try {
            call.run();
        } catch (ApiException error) {
            return error;
        }
        throw new IllegalStateException("no exception");
    }
}
