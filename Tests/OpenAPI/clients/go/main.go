// SPDX-License-Identifier: Apache-2.0

// What an app does, by the client that openapi-generator has made.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	client "example.com/appbackend"
)

func must(err error) {
	if err != nil {
		if detail, ok := err.(*client.GenericOpenAPIError); ok {
			fmt.Fprintln(os.Stderr, string(detail.Body()))
		}
		panic(err)
	}
}

func main() {
	user := os.Getenv("APP_USER")
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: os.Getenv("APP_URL")}}
	api := client.NewAPIClient(settings)

	basic := context.WithValue(context.Background(), client.ContextBasicAuth,
		client.BasicAuth{UserName: user, Password: os.Getenv("APP_PASSWORD")})
	wish := client.NewAppTokenWish([]client.Scope{"send", "read", "register"})
	wish.SetLabel("main.go")
	token, _, err := api.AppTokensAPI.CreateToken(basic).AppTokenWish(*wish).Execute()
	must(err)
	caller := context.WithValue(context.Background(), client.ContextAccessToken, token.Token)

	device := client.NewDeviceRegistration("browser", os.Getenv("APP_HANDLE"))
	device.SetKeys(*client.NewBrowserKeys(os.Getenv("APP_P256DH"), os.Getenv("APP_AUTH")))
	_, err = api.DevicesAPI.RegisterDevice(caller, "drive-go").DeviceRegistration(*device).Execute()
	must(err)
	devices, _, err := api.DevicesAPI.ListDevices(caller).Execute()
	must(err)
	fmt.Println("device", devices[0].Platform)

	message := client.NewMessageObject(user)
	message.SetTitle("Lunch")
	message.SetBody("At noon")
	sent, _, err := api.SendingAPI.SendMessage(caller).MessageObject(*message).Execute()
	must(err)
	secret := client.NewMessageObject([]string{user})
	secret.SetBody("4711")
	secret.SetSecure(true)
	_, _, err = api.SendingAPI.SendMessage(caller).MessageObject(*secret).Execute()
	must(err)
	fmt.Println("sent", sent.Outcomes[0].Platform)

	inbox, _, err := api.InboxAPI.ListInbox(caller).Unread(true).Execute()
	must(err)
	for _, message := range inbox.Messages {
		if message.Secure {
			read, _, err := api.InboxAPI.ReadSecureMessage(caller, strconv.Itoa(int(message.Id))).Execute()
			must(err)
			fmt.Println("secure", read.Payload)
		} else {
			_, err := api.InboxAPI.MarkAsRead(caller, message.Id).Execute()
			must(err)
			fmt.Println("plain", message.GetBody())
		}
	}
	_, answer, err := api.InboxAPI.ListInbox(caller).Execute()
	must(err)
	// Every status but success is an error, 304, too.
	_, answer, _ = api.InboxAPI.ListInbox(caller).IfNoneMatch(answer.Header.Get("ETag")).Execute()
	fmt.Println("unchanged", answer.StatusCode)

	delivery, _, err := api.DeliveryAPI.ReadDeliveryStatus(caller, sent.GetMessageId()).Execute()
	must(err)
	fmt.Println("delivery", delivery.Outcomes[0].Platform, map[bool]string{true: "read", false: "unread"}[delivery.GetRead()])

	wrong := client.NewMessageObject(user)
	wrong.SetBody("At noon")
	wrong.SetBadge(-1)
	_, _, err = api.SendingAPI.SendMessage(caller).MessageObject(*wrong).Execute()
	var problem client.Problem
	must(json.Unmarshal(err.(*client.GenericOpenAPIError).Body(), &problem))
	fmt.Println("refused", problem.Status, problem.GetField())
}
