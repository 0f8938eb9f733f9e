// What runs inside the lab's pods: one static program, so that an image needs nothing else.
module sunset.dev/lab/pod

go 1.26.0
