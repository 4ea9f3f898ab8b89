package main

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the API server sets where nobody does (k8s.io/kubernetes, pkg/apis/apps/v1 and core/v1, `defaults.go`), for the fields that
// the writes of the tests have.
type defaults struct{}

func (defaults) Default(object runtime.Object) {
	switch it := object.(type) {
	case *appsv1.Deployment:
		deploymentDefaults(&it.Spec)
	case *corev1.Secret:
		if it.Type == "" {
			it.Type = corev1.SecretTypeOpaque
		}
	}
}

func deploymentDefaults(spec *appsv1.DeploymentSpec) {
	setIfNil(&spec.Replicas, 1)
	setIfNil(&spec.RevisionHistoryLimit, 10)
	setIfNil(&spec.ProgressDeadlineSeconds, 600)
	setIfEmpty(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		if spec.Strategy.RollingUpdate == nil {
			spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{}
		}
		setIfNil(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setIfNil(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	pod := &spec.Template.Spec
	setIfEmpty(&pod.RestartPolicy, corev1.RestartPolicyAlways)
	setIfEmpty(&pod.DNSPolicy, corev1.DNSClusterFirst)
	setIfEmpty(&pod.SchedulerName, corev1.DefaultSchedulerName)
	setIfNil(&pod.TerminationGracePeriodSeconds, 30)
	setIfNil(&pod.SecurityContext, corev1.PodSecurityContext{})
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for index := range containers {
			containerDefaults(&containers[index])
		}
	}
	for index := range pod.Volumes {
		volumeDefaults(&pod.Volumes[index].VolumeSource)
	}
}

func containerDefaults(container *corev1.Container) {
	policy := corev1.PullIfNotPresent
	if !strings.Contains(container.Image, ":") || strings.HasSuffix(container.Image, ":latest") {
		policy = corev1.PullAlways
	}
	setIfEmpty(&container.ImagePullPolicy, policy)
	setIfEmpty(&container.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setIfEmpty(&container.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for index := range container.Ports {
		setIfEmpty(&container.Ports[index].Protocol, corev1.ProtocolTCP)
	}
	for index := range container.Env {
		if from := container.Env[index].ValueFrom; from != nil && from.FieldRef != nil {
			setIfEmpty(&from.FieldRef.APIVersion, "v1")
		}
	}
}

func volumeDefaults(volume *corev1.VolumeSource) {
	if *volume == (corev1.VolumeSource{}) {
		volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if volume.Secret != nil {
		setIfNil(&volume.Secret.DefaultMode, 0644)
	}
	if volume.ConfigMap != nil {
		setIfNil(&volume.ConfigMap.DefaultMode, 0644)
	}
}

// The part of the API's own rules that the tests' API server has.
func isValid(object runtime.Object) bool {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
		return false
	}
	pod := deployment.Spec.Template.Spec
	for _, container := range append(append([]corev1.Container{}, pod.InitContainers...), pod.Containers...) {
		if container.Image == "" {
			return false
		}
		for _, mount := range container.VolumeMounts {
			if mount.Name == "" {
				return false
			}
		}
	}
	before, isThere := live.(*appsv1.Deployment)
	return !isThere || metav1.FormatLabelSelector(before.Spec.Selector) == metav1.FormatLabelSelector(deployment.Spec.Selector)
}

func setIfNil[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func setIfEmpty[T ~string](field *T, value T) {
	if *field == "" {
		*field = value
	}
}
