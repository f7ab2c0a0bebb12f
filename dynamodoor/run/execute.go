package run

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// execute carries out a request on items.
func (r *Router) execute(ctx context.Context, q api.Request, use func(api.Response) error) error {
	all := *r.tables.Load()
	var wrong error
	p, err := plan.Make(q, func(name string) *plan.Table {
		name = simpleName(name)
		if name == catalog.Table {
			wrong = exception.New(exception.ResourceNotFound, "Requested resource not found")
			return nil
		}
		e := all[name]
		if e == nil {
			return nil
		}
		if e.filling() {
			if e, wrong = r.refresh(ctx, name); wrong != nil || e == nil {
				return nil
			}
		}
		if e.wrong != nil {
			wrong = e.wrong
			return nil
		}
		return e.table
	})
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	}
	switch p := p.(type) {
	case nil:
		return r.backend.Answer(ctx, q, use)
	case *plan.Direct:
		err = r.backend.Answer(ctx, p.Request, func(a api.Response) error {
			visible, err := p.Answer(a)
			if err != nil {
				return err
			}
			return use(visible)
		})
	case *plan.Fanout:
		err = r.merge(ctx, p, use)
	default:
		err = fmt.Errorf("a plan of type %T", p)
	}
	if err != nil {
		return p.Err(err)
	}
	return nil
}
