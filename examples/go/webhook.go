// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// verify returns an error for an event that this service has not signed just now.
func verify(secret, id, timestamp, signatures string, body []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "." + string(body)))
	wanted := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	isSigned := false
	for _, one := range strings.Split(signatures, " ") {
		isSigned = isSigned || hmac.Equal([]byte(one), wanted)
	}
	if !isSigned {
		return errors.New("the signature is wrong")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the signature is right, and the time is more than five minutes off")
	}
	return nil
}
