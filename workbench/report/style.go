// SPDX-License-Identifier: Apache-2.0

package report

import _ "embed" // for the style

// Style is the reports' style sheet; the workbench's page has it, too.
//
//go:embed style.css
var Style string
