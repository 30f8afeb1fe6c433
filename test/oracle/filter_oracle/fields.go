package main

import (
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// podFields names the fields of the types that a pod's spec is made of, as they stand in JSON.
func podFields() map[string][]string {
	out := map[string][]string{}
	for _, of := range []reflect.Type{reflect.TypeFor[v1.PodSpec](), reflect.TypeFor[v1.Container]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			out[of.Name()] = append(out[of.Name()], name)
		}
	}
	return out
}
