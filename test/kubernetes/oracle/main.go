// Plays writes to one object with Kubernetes' own code for owners of fields (k8s.io/apimachinery, util/managedfields) and its own
// schema of the API, as the handlers of the API server do (k8s.io/apiserver, endpoints/handlers): a write a line of JSON on standard
// input, the answer a line on standard output. It lies in this folder of client-go, where alone Go lets the schema be used.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations/internal"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type write struct {
	// read, begin, create, replace, json, merge, strategic, apply, scale, forget, giveUp
	Verb        string
	Kind        string
	Manager     string
	Subresource string
	Force       bool
	Body        json.RawMessage
	Replicas    int32
}

type answer struct {
	Object  runtime.Object       `json:"object,omitempty"`
	Status  int32                `json:"status"`
	Message string               `json:"message,omitempty"`
	Causes  []metav1.StatusCause `json:"causes,omitempty"`
}

var scheme = runtime.NewScheme()

// the object as it is; nil: there is none
var live runtime.Object
var kind schema.GroupVersionKind

func main() {
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, autoscalingv1.AddToScheme, batchv1.AddToScheme, rbacv1.AddToScheme} {
		must(add(scheme))
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var w write
		must(json.Unmarshal(in.Bytes(), &w))
		must(out.Encode(answerTo(w)))
	}
}

// An object as it is sent, of any kind: nothing in it may be unknown, nor twice (fieldValidation=Strict).
func read(body []byte) answer {
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	object, _, err := codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return answer{Status: 400, Message: err.Error()}
	}
	return answer{Object: object, Status: 200}
}

func answerTo(w write) answer {
	if w.Verb == "read" {
		return read(w.Body)
	}
	if w.Verb == "begin" {
		kind, live = kinds[w.Kind], nil
		return answer{Status: 200}
	}
	if live == nil && w.Verb != "create" && w.Verb != "apply" {
		return answer{Status: 404}
	}
	next, err := played(w)
	var refused apierrors.APIStatus
	if errors.As(err, &refused) {
		it := answer{Status: refused.Status().Code, Message: refused.Status().Message}
		if details := refused.Status().Details; details != nil {
			it.Causes = details.Causes
		}
		return it
	}
	if err != nil {
		return answer{Status: 422, Message: err.Error()}
	}
	if !isValid(next) {
		return answer{Status: 422, Message: "invalid"}
	}
	live = next
	return answer{Object: live, Status: 200}
}

var kinds = map[string]schema.GroupVersionKind{
	"Deployment": appsv1.SchemeGroupVersion.WithKind("Deployment"),
	"Secret":     corev1.SchemeGroupVersion.WithKind("Secret"),
	"ConfigMap":  corev1.SchemeGroupVersion.WithKind("ConfigMap"),
}

func played(w write) (runtime.Object, error) {
	switch w.Verb {
	case "scale":
		return scaled(w)
	case "apply":
		return applied(w)
	case "create":
		next, err := decoded(kind, w.Body)
		if err != nil {
			return nil, err
		}
		return stored(nil, managerOf(kind, w.Subresource).UpdateNoErrors(fresh(kind), next, w.Manager), w), nil
	}
	before := encoded(live)
	after, err := changed(before, w)
	if err != nil {
		return nil, err
	}
	next, err := decoded(kind, after)
	if err != nil {
		return nil, err
	}
	return stored(live, managerOf(kind, w.Subresource).UpdateNoErrors(live, next, w.Manager), w), nil
}

func changed(before []byte, w write) ([]byte, error) {
	switch w.Verb {
	case "replace":
		return w.Body, nil
	case "merge":
		return jsonpatch.MergePatch(before, w.Body)
	case "strategic":
		return strategicpatch.StrategicMergePatch(before, w.Body, fresh(kind))
	case "json":
		return jsonPatched(before, w.Body)
	case "forget":
		return jsonpatch.MergePatch(before, []byte(`{"metadata":{"managedFields":[{}]}}`))
	case "giveUp":
		return jsonPatched(before, removals(w.Manager))
	}
	return nil, fmt.Errorf("unknown verb %q", w.Verb)
}

func jsonPatched(before, body []byte) ([]byte, error) {
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	return patch.Apply(before)
}

// All entries of a manager by operation Update, the last first.
func removals(manager string) []byte {
	patch := []map[string]any{}
	for index, entry := range accessor(live).GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationUpdate {
			patch = append([]map[string]any{{"op": "remove", "path": fmt.Sprintf("/metadata/managedFields/%d", index)}}, patch...)
		}
	}
	body, err := json.Marshal(patch)
	must(err)
	return body
}

func applied(w write) (runtime.Object, error) {
	config := &unstructured.Unstructured{}
	if err := json.Unmarshal(w.Body, &config.Object); err != nil {
		return nil, err
	}
	before := live
	if before == nil {
		before = fresh(kind)
	}
	next, err := managerOf(kind, "").Apply(before, config, w.Manager, w.Force)
	if err != nil {
		return nil, err
	}
	return stored(live, next, w), nil
}

// As registry/apps/deployment/storage does with the managedFields of the Deployment.
func scaled(w write) (runtime.Object, error) {
	of := live.DeepCopyObject().(*appsv1.Deployment)
	path := fieldpath.MakePathOrDie("spec", "replicas")
	handler := managedfields.NewScaleHandler(of.ManagedFields, appsv1.SchemeGroupVersion, managedfields.ResourcePathMappings{appsv1.SchemeGroupVersion.String(): path})
	entries, err := handler.ToSubresource()
	if err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: of.Name, Namespace: of.Namespace, UID: of.UID, ManagedFields: entries}, Spec: autoscalingv1.ScaleSpec{Replicas: *of.Spec.Replicas}}
	next := scale.DeepCopy()
	next.Spec.Replicas = w.Replicas
	gvk := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
	now := managerOf(gvk, "scale").UpdateNoErrors(scale, next, w.Manager)
	of.ManagedFields, err = handler.ToParent(accessor(now).GetManagedFields())
	*of.Spec.Replicas = w.Replicas
	return of, err
}

// What the strategies of the registries do to an object that is written.
func stored(before, next runtime.Object, w write) runtime.Object {
	if deployment, ok := next.(*appsv1.Deployment); ok {
		old, isThere := before.(*appsv1.Deployment)
		switch {
		case w.Subresource == "status":
			deployment.Spec, deployment.Labels = old.Spec, old.Labels
		case isThere:
			deployment.Status = old.Status
		default:
			deployment.Status = appsv1.DeploymentStatus{}
		}
	}
	accessor(next).SetUID("uid")
	return next
}

func managerOf(of schema.GroupVersionKind, subresource string) *managedfields.FieldManager {
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	if of.Kind == "Deployment" {
		set := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if subresource == "status" {
			set = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
		}
		reset[fieldpath.APIVersion(of.GroupVersion().String())] = set
	}
	converter := managedfields.NewSchemeTypeConverter(scheme, internal.Parser())
	if of.Kind == "Scale" {
		// client-go's schema does not have it; there is nothing in it that an own one would tell apart
		converter = managedfields.NewDeducedTypeConverter()
	}
	hub := schema.GroupVersion{Group: of.Group, Version: runtime.APIVersionInternal}
	manager, err := managedfields.NewDefaultFieldManager(converter, versions{scheme, of}, defaults{}, scheme, of, hub, subresource, fieldpath.NewExcludeFilterSetMap(reset))
	must(err)
	return manager
}

// There is one version alone, but what is text in a Secret becomes data on the way to the server's own.
type versions struct {
	*runtime.Scheme
	of schema.GroupVersionKind
}

func (v versions) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	out := fresh(v.of)
	if made, ok := in.(*unstructured.Unstructured); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, out); err != nil {
			return nil, err
		}
	} else {
		out = in.DeepCopyObject()
	}
	if to != runtime.GroupVersioner(v.of.GroupVersion()) {
		withData(out)
	}
	out.GetObjectKind().SetGroupVersionKind(v.of)
	return out, nil
}

func withData(object runtime.Object) {
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return
	}
	for key, text := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(text)
	}
	secret.StringData = nil
}

func decoded(of schema.GroupVersionKind, body []byte) (runtime.Object, error) {
	object := fresh(of)
	if err := json.Unmarshal(body, object); err != nil {
		return nil, err
	}
	defaults{}.Default(object)
	withData(object)
	object.GetObjectKind().SetGroupVersionKind(of)
	return object, nil
}

func encoded(object runtime.Object) []byte {
	body, err := json.Marshal(object)
	must(err)
	return body
}

func fresh(of schema.GroupVersionKind) runtime.Object {
	object, err := scheme.New(of)
	must(err)
	object.GetObjectKind().SetGroupVersionKind(of)
	return object
}

func accessor(object runtime.Object) metav1.Object {
	it, err := meta.Accessor(object)
	must(err)
	return it
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
