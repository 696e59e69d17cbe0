// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

var client = http.Client{Timeout: 30 * time.Second}

type object map[string]any

// A session is the credentials of its calls, as the field Authorization has them.
type session struct{ authorization string }

// An answer has some of these members. A problem (application/problem+json) has Detail, and Field where one is at fault.
type answer struct {
	ID                                       any
	Token, MessageID, Payload, Detail, Field string
	Messages                                 []struct {
		ID                int
		Secure            bool
		From, Title, Body string
	}
	Outcomes []struct {
		Platform, State string
		Counts          map[string]int
	}
}

func (a answer) isUnderWay() bool {
	for _, outcome := range a.Outcomes {
		if outcome.State == "Enqueued" || outcome.State == "Processing" {
			return true
		}
	}
	return false
}

func (s session) call(method, path string, body object) (result answer, err error) {
	var content []byte
	if body != nil {
		if content, err = json.Marshal(body); err != nil {
			return result, err
		}
	}
	request, err := http.NewRequest(method, setting("APP_BACKEND_URL")+path, bytes.NewReader(content))
	if err != nil {
		return result, err
	}
	request.Header = http.Header{"Authorization": {s.authorization}, "Content-Type": {"application/json"}}
	response, err := client.Do(request)
	if err != nil {
		return result, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&result)
	switch {
	case response.StatusCode > 299 && result.Detail == "":
		return result, fmt.Errorf("%d: the answer gives no reason", response.StatusCode)
	case response.StatusCode > 299 && result.Field == "":
		return result, fmt.Errorf("%d: %s", response.StatusCode, result.Detail)
	case response.StatusCode > 299:
		return result, fmt.Errorf("%d: %s (%s)", response.StatusCode, result.Detail, result.Field)
	case errors.Is(err, io.EOF):
		// An answer without a body.
		return result, nil
	}
	return result, err
}
