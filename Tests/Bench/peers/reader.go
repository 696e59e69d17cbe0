// SPDX-License-Identifier: Apache-2.0

// What Tests/Bench/responder.c does for /c-reading/ID, as a program in Go would do it: net/http behind nginx, by HTTP.
//
//	reader SOCKET USER:PASSWORD FILE
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

var key = []byte("0123456789abcdef0123456789abcde")

type record struct {
	ID      int64  `json:"id"`
	Payload string `json:"payload"`
}

type answer struct {
	Id      int64
	Payload string
	Read    bool
}

func code(text []byte) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write(text)
	return hash.Sum(nil)
}

func isAuthorized(header string, expected []byte) bool {
	if !strings.HasPrefix(header, "Basic ") {
		return false
	}
	credentials, err := base64.StdEncoding.DecodeString(header[len("Basic "):])
	return err == nil && hmac.Equal(code(credentials), expected)
}

// The record with that id, out of the lines of the file.
func read(file string, id string) (record, int) {
	var found record
	lines, err := os.ReadFile(file)
	if err != nil {
		return found, http.StatusInternalServerError
	}
	start := bytes.Index(lines, []byte(`{"id":`+id+","))
	if start < 0 {
		return found, http.StatusNotFound
	}
	line, _, _ := bytes.Cut(lines[start:], []byte("\n"))
	if json.Unmarshal(line, &found) != nil {
		return found, http.StatusInternalServerError
	}
	return found, http.StatusOK
}

func main() {
	socket, expected, file := os.Args[1], code([]byte(os.Args[2])), os.Args[3]
	handler := func(w http.ResponseWriter, r *http.Request) {
		if !isAuthorized(r.Header.Get("Authorization"), expected) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		found, status := read(file, r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		body, _ := json.Marshal(answer{found.ID, found.Payload, true})
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(handler)))
}
