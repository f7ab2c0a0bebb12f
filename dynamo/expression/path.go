package expression

// Path is a document path, such as a.b[3].
type Path struct {
	Name  string // of the attribute
	Steps []Step
}

// Step goes from a map or list to one of its elements.
type Step struct {
	Field string // of a map
	Index int    // of a list; -1 for a map
}
