// SPDX-License-Identifier: Apache-2.0

// Registers a device, sends two messages to its user, reads them, and prints their delivery status. See README.md.
package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"os"
	"time"
)

func run(user, password string) error {
	logIn := session{"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))}
	// An app keeps this token instead of the password.
	made, err := logIn.call("POST", "/api/tokens", object{"Scopes": []string{"register", "send", "read"}, "ExpiresInDays": 1})
	if err != nil {
		return err
	}
	defer logIn.call("DELETE", fmt.Sprint("/api/tokens/", made.ID), nil)
	app := session{"Bearer " + made.Token}

	// An app makes this id once and keeps it. The handle comes from the device's push service.
	device := object{"Platform": "fcm", "Handle": "token-of-example-go", "Tags": []string{}}
	if _, err = app.call("PUT", "/api/register/example-go", device); err != nil {
		return err
	}
	sent, err := app.call("POST", "/api/notifications", object{"To": user, "Title": "Lunch", "Body": "At noon"})
	if err != nil {
		return err
	}
	_, err = app.call("POST", "/api/notifications", object{"To": user, "Body": "The code is 4711", "Secure": true})
	if err != nil {
		return err
	}

	inbox, err := app.call("GET", "/api/inbox?limit=2", nil)
	if err != nil {
		return err
	}
	for _, message := range inbox.Messages {
		text := message.Title + ", " + message.Body
		if message.Secure {
			// Only the id travelled to the device. Fetching the text marks the message as read.
			fetched, err := app.call("GET", fmt.Sprint("/api/notifications/", message.ID), nil)
			if err != nil {
				return err
			}
			text = fetched.Payload
		}
		fmt.Printf("%s: %s\n", message.From, text)
	}

	timeline, err := app.call("GET", "/api/notifications/"+sent.MessageID+"/timeline", nil)
	for tries := 0; err == nil && timeline.isUnderWay() && tries < 30; tries++ {
		time.Sleep(time.Second)
		timeline, err = app.call("GET", "/api/notifications/"+sent.MessageID+"/timeline", nil)
	}
	for _, outcome := range timeline.Outcomes {
		counts := ""
		for name, count := range outcome.Counts {
			counts += fmt.Sprintf(", %s %d", name, count)
		}
		fmt.Printf("%s: %s%s\n", outcome.Platform, outcome.State, counts)
	}
	return err
}

func setting(name string) string {
	value := os.Getenv(name)
	if value == "" {
		log.Fatalf("Please set %s.", name)
	}
	return value
}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 5 && os.Args[1] == "verify" {
		body, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = verify(setting("APP_BACKEND_WEBHOOK_SECRET"), os.Args[2], os.Args[3], os.Args[4], body)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("the signature is right")
	} else if err := run(setting("APP_BACKEND_USER"), setting("APP_BACKEND_PASSWORD")); err != nil {
		log.Fatal(err)
	}
}
