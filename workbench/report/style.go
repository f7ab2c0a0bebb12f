// SPDX-License-Identifier: Apache-2.0

package report

import _ "embed" // for the style

// Style is the style sheet of the reports and of the workbench's page.
//
//go:embed style.css
var Style string
